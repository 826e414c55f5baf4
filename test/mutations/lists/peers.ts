/** Mutations of what a process does about others that may be dead. */
import { area } from '../mutation.ts'

const watch = 'src/server/peers/peer-watch.ts'
const watched = 'src/server/peers/watched-peer.ts'

export const peerMutations = area(
  'deaths of peers',
  ['peers/peer-watch'],
  [
    [
      'never-heard',
      watched,
      "if (this.#silentMs === undefined) return 'unknown'",
      'this.#silentMs ??= 0',
      'a process that was never reached counts as dead',
    ],
    [
      'front-refused-at-once',
      watched,
      'this.seen.hasFront ? frontRefusedMsMax : 0',
      '0',
      'an engine is removed when its front ends',
    ],
    ['leaving-removed', watched, "if (this.#isLeaving) return 'leaving'", '', 'a process that leaves is removed meanwhile'],
    [
      'calls-in-a-loop',
      watched,
      'if (leftMs > 0) await',
      'if (leftMs < 0) await',
      'a process that answers at once is called without a pause',
    ],
    ['no-witness', watch, "condition === 'silent' && !(await this.#isWitnessed(watched))", 'false', 'one watcher alone decides'],
    ['silent-witness', watch, 'known.length > 0 && known.every', 'known.every', 'a watcher that does not answer is a witness'],
    [
      'third-member-uncounted',
      watch,
      'isAlone || (known.length',
      'others.length === 0 || (known.length',
      'one watcher alone decides beside members without an address',
    ],
    [
      'own-pause-counts',
      watch,
      'Math.min(nowMs - this.#tickedAtMs, 2 * tickMs)',
      'nowMs - this.#tickedAtMs',
      'a process that was paused takes all others for silent',
    ],
    [
      'leaving-removes',
      watch,
      "if (this.#isLeaving || watched.condition === 'leaving') return",
      '',
      'a process that leaves removes others',
    ],
    [
      'deaf-heard-meanwhile',
      watch,
      "condition === 'deaf' ? watched.condition !== 'deaf' :",
      "condition === 'deaf' ? false :",
      'a process is removed to which brokers answer again while they are asked',
    ],
    [
      'deaf-with-all',
      watched,
      'hearsBrokers ? this.#deafMs + ms : 0',
      'this.#deafMs + ms',
      'processes remove each other after the brokers were away',
    ],
    ['deaf-at-once', watched, 'this.#deafMs >= deafMsMax', 'true', 'a process is removed while its brokers take a moment'],
    [
      'own-pause-is-deafness',
      watch,
      'this.#brokersSilentMs + passedMs',
      'this.#brokersSilentMs + 20 * passedMs',
      'a process says that no broker answers it, after it was paused',
    ],
    ['removed-again', watch, '< removedMsMin', '< 0', 'an instance is removed each second'],
    [
      'other-member-removed',
      watch,
      'idsOf(groups.flat(), instance) === memberIds',
      'true',
      'a member that has joined again is removed for its former silence',
    ],
    [
      'heard-meanwhile',
      watch,
      "condition === 'deaf' ? watched.condition !== 'deaf' : (watched.silentMs ?? 0) < silentMs",
      "condition === 'deaf' && watched.condition !== 'deaf'",
      'a process is removed that has answered while the brokers were asked',
    ],
    [
      'same-after-a-join',
      watch,
      'before?.seen.memberIds === seen.memberIds && before.seen.url === url',
      'before !== undefined',
      'two processes that cannot hear each other remove each other for ever',
    ],
    [
      'second-watcher-warns',
      watch,
      'if ((await this.#isMember(watched)) === false) return',
      '',
      'the slower watcher logs an error',
    ],
  ],
)
