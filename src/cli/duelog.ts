#!/usr/bin/env node
/** The command `duelog`. It imports nothing by itself, so that a Node which is too old is told so rather than failing on the first import. */
export {}

const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(`duelog: Node ${nodeMajorMin} or later is needed; this is ${process.version}.\n`)
  process.exit(1)
}
const { boundHeap, boundMalloc } = await import('./memory.ts')
// Of the commands this one runs for long.
if (process.argv[2] === 'up') boundMalloc()
boundHeap()
const { allRead, letReadersLeave } = await import('./terminal/index.ts')
letReadersLeave()
const { main } = await import('./program.ts')
const code = await main(process.argv.slice(2))
await allRead()
// What is left of sockets and timers must not hold back the end: everything that matters was stopped before.
process.exit(code)
