// The second operand, pasted; then the first, generated.
at("which").value = "B"; at("pasted").value = "1\n2\n3"; at("take-pasted").click();
const pasted = [bits(player.operands.B.values), bits(player.operands.A.values) === bits(example.A.values), edited];
at("which").value = "A"; at("kind").value = "Hilbert"; at("make").click();
return { pasted, made: [player.operands.A.values[1] === 0.5, bits(player.operands.B.values) === pasted[0], edited], ...end() };
