#!/usr/bin/env node
/** The command `duelog`. It has no static imports, so that a Node that is too old gets a clear message instead of a failing import. */
export {}

const nodeMajorMin = 24

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(`duelog: Node ${nodeMajorMin} or later is required; this is ${process.version}.\n`)
  process.exit(1)
}
const { boundHeap, boundMalloc } = await import('./memory.ts')
// Only this command runs for a long time.
if (process.argv[2] === 'up') boundMalloc()
boundHeap()
const { allRead, letReadersLeave } = await import('./terminal/index.ts')
letReadersLeave()
const { main } = await import('./program.ts')
const code = await main(process.argv.slice(2))
await allRead()
// Remaining sockets and timers must not delay the exit: everything that matters has been stopped.
process.exit(code)
