// Runs each case of each document, and tells which plans came, why, and how it ended. ROOMS holds the scripts of each
// operation, in a scope of their own.
const told = JSON.parse(document.getElementById("data").textContent).map(({ document: data, cases }) => {
    const { next, HOSTS, verdict } = ROOMS[data.operation]();
    try {
        const player = new Player(canvas, data);
        player.decide = next;
        player.hosts = HOSTS;
        const ways = cases.map((operands) => {
            player.set(given(operands));
            player.run();
            const begun = player.timeline.filter((entry) => entry.operands && entry.because);
            const { error, elsewhere, words } = player.settled ?? {};
            return {
                stages: begun.map((entry) => data.plans[entry.plan].stage), because: begun.map((entry) => entry.because),
                error: [error, elsewhere, ...(words ?? [])].join(" "), verdict: verdict(player),
            };
        });
        release(player);
        return ways;
    } catch (error) {
        return cases.map(() => error.stack);
    }
});
document.getElementById("told").textContent = JSON.stringify(told);
