/** Mutations of what a process does about others that may be dead. */
import { area } from '../mutation.ts'

const watch = 'src/server/peers/peer-watch.ts'

export const peerMutations = area(
  'deaths of peers',
  ['peers/peer-watch'],
  [
    [
      'never-heard',
      watch,
      'if (watched.silentMs === undefined) return',
      'watched.silentMs ??= 0',
      'a process that was never reached counts as dead',
    ],
    ['front-refused-at-once', watch, 'watched.hasFront ? frontRefusedMsMax : 0', '0', 'an engine is removed when its front ends'],
    ['no-witness', watch, "reason === 'silent' && !(await this.#isWitnessed(watched))", 'false', 'one watcher alone decides'],
    ['silent-witness', watch, 'known.length > 0 && known.every', 'known.every', 'a watcher that does not answer is a witness'],
    [
      'own-pause-counts',
      watch,
      'Math.min(nowMs - this.#tickedAtMs, 2 * tickMs)',
      'nowMs - this.#tickedAtMs',
      'a process that was paused takes all others for silent',
    ],
    ['leaving-removed', watch, "state === 'leaving' || ", '', 'a process that leaves is removed meanwhile'],
    [
      'leaving-removes',
      watch,
      'this.#isLeaving || nowMs - removedAtMs',
      'nowMs - removedAtMs',
      'a process that leaves removes others',
    ],
    ['removed-again', watch, 'nowMs - removedAtMs < removedMsMin', 'false', 'an instance is removed each second'],
    [
      'other-member-removed',
      watch,
      'idsOf(members, instance) === memberIds',
      'true',
      'a member that has joined again is removed for its former silence',
    ],
    [
      'heard-meanwhile',
      watch,
      'return isSilent && ',
      'return ',
      'a process is removed that has answered while the brokers were asked',
    ],
    ['second-watcher-warns', watch, 'if (!(await this.#isMember(watched))) return', '', 'the slower watcher logs an error'],
  ],
)
