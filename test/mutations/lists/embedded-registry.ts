/** Mutations of the embedded registry: when it begins and ends, and how long calls wait for it and hold it. */
import { area } from '../mutation.ts'

const onDemand = 'src/program/embedded/on-demand-registry.ts'
const guard = 'src/program/embedded/registry-guard.ts'

export const embeddedRegistryMutations = [
  ...area(
    'embedded-registry',
    ['embedded/on-demand-registry', 'embedded/registry-guard'],
    [
      ['registry-ends-in-a-call', onDemand, 'this.#users > 0 || idleMs', 'idleMs', 'it ends while somebody uses it'],
      [
        'registry-started-twice',
        onDemand,
        'this.#place ??= this.#begin()',
        'this.#place = this.#begin()',
        'each caller starts one',
      ],
      [
        'registry-beside-its-end',
        onDemand,
        '    await this.#ended\n    if (this.#isStopped) throw',
        '    if (this.#isStopped) throw',
        'one starts while the one before still has the storage',
      ],
      [
        'registry-ends-in-spite-of-a-user',
        onDemand,
        '    this.#users++\n    clearTimeout(this.#idleTimer)\n',
        '    this.#users++\n',
        'it ends although somebody came before the limit',
      ],
      [
        'registry-starts-after-a-stop',
        onDemand,
        'if (this.#isStopped) throw',
        'if (false) throw',
        'one starts after the stop, and stays',
      ],
      ['registry-not-waited-for', onDemand, '    await this.#ended\n  }', '  }', 'a stop does not wait for one that ends'],
      ['failed-registry-left', onDemand, 'await process?.stop()\n      throw', 'throw', 'the process of a failed start stays'],
      [
        'registry-fails-for-ever',
        onDemand,
        'setTimeout(() => this.#forget(place), againMs).unref()',
        '',
        'a failed start is the last one',
      ],
      [
        'registry-fails-fast',
        onDemand,
        'setTimeout(() => this.#forget(place), againMs).unref()',
        'this.#forget(place)',
        'each call tries it',
      ],
      [
        'dead-registry-used',
        onDemand,
        '    this.#place = undefined\n    // Where only',
        '    // Where only',
        'one that has died is not started again',
      ],
      [
        'registry-beside-one-without-guard',
        onDemand,
        '    this.#ended = process.stop()\n',
        '',
        'one that outlived its guard keeps the storage, so that no other can start',
      ],
      [
        'body-without-frame',
        guard,
        "headers['transfer-encoding'] = 'chunked'",
        '{}',
        'the body of a DELETE is taken for a request of its own',
      ],
      ['call-never-over', guard, '      registry.release()\n', '', 'each call holds the registry for ever'],
      ['calls-without-limit', guard, 'if (calls >= callsMax)', 'if (false)', 'a program fills the memory with calls that wait'],
      [
        'call-waits-for-ever',
        guard,
        'setTimeout(refuse, startMs, 503,',
        'setTimeout(() => {}, startMs, 503,',
        'a call waits as long as the start',
      ],
      [
        'given-up-call-made',
        guard,
        'if (!answer.headersSent && !asked.socket.destroyed) handOver',
        'if (!answer.headersSent) handOver',
        'a call that was given up is made',
      ],
    ],
  ),
]
