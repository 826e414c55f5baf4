/** Memory of a Duelog process, which is meant to be flat. */
import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's young generation at the size it starts with, some 15 MB. By default it grows to 128 MB under load: a scheduler that
 * restores a million jobs then peaks at 560 MB of resident memory, with this at 370 MB. Objects here live either for a turn or for ever,
 * so a larger one would gain little. It must be called before the first load.
 *
 * And the old generation is collected when it has grown by 150 %. By default it may grow to four times what is in use: of 390 MB that a
 * scheduler had at the peak of a restore of 200,000 jobs, 100 were garbage. Collecting at 100 % costs a tenth more processor time while
 * definitions pour in, at 200 % half of that.
 */
export function boundHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=150')
}
