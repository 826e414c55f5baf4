const [from = 1, to = 1] = process.argv.slice(2).map(Number)
const { history } = await import("./history.ts")
let bad = 0
for (let seed = from; seed <= to; seed++) { const p = await history(seed); if (p.length) { bad++; console.log(p.slice(0,3).join('\n')) } }
console.log('done', from, to, 'bad', bad)
