// What the page's judge says of the result, and of one whose largest entry is off by a hundredth.
go(0); press("End");
const good = { words: at("judgement").textContent, mark: at("mark").textContent };
const { results, slots } = data.plans[0];
const [result] = Object.keys(results).filter((name) => slots[results[name]].shape);
const read = player.value.bind(player);
player.value = (plan, name) => {
    const value = read(plan, name);
    const larger = (most, one, k) => (Math.abs(one) > Math.abs(value.values[most]) ? k : most);
    const largest = value.values.reduce(larger, 0);
    if (value.shape && name === result) value.values[largest] *= 1.01;
    if (!result && name === "diagonal") value.values[0] *= -1;
    return value;
};
showVerdict();
return { good, bad: at("mark").textContent };
