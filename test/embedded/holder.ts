/** A process that starts the embedded programs and then only exists, to be killed: `node holder.ts OPTIONS_AS_JSON`. Prints `up`. */
import { startEmbedded } from '../../src/program/embedded/start.ts'

const logger = { info: () => {}, warn: console.error, error: console.error }
await startEmbedded({ ...JSON.parse(process.argv[2] ?? ''), logger })
console.log('up')
setInterval(() => {}, 2 ** 30)
