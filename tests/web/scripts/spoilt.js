// What the page's judge says of the result, and of one whose largest entry is off by a hundredth.
for (let k = 0; k <= player.timeline.length; k++) go(k);  // every pass is shown
const good = { words: at("judgement").textContent, mark: at("mark").textContent, told: at("outcome").innerText };
const numbers = { det: ["sign", -1], slogdet: ["logabsdet", 2], rcond: ["rcond", 100] };
const honest = resultsOf;
const largestAt = (at) => at.reduce((most, one, k) => (Math.abs(one) > Math.abs(at[most]) ? k : most), 0);
resultsOf = (player) => {
    const results = honest(player);
    const [name, factor] = numbers[data.judge] ?? [Object.keys(results).find((one) => results[one]?.at && (one in data.plans[0].results || one === "X")), 1.01];
    if (data.judge === "lstsq") results.X.at[largestAt(results.X.at)] *= 1.01;
    else if (results[name]?.at) results[name].at[largestAt(results[name].at)] *= factor;
    else results[name] *= factor;
    return results;
};
showVerdict();
return { good, bad: at("mark").textContent, judged: at("judgement").textContent };
