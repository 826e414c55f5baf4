/** Mutations of the history: what is written with its position, what is found, what is counted, and what callers may ask. */
import { area } from '../mutation.ts'

const databases = (file: string): string => `src/server/history/databases/${file}.ts`

export const historyMutations = [
  ...area(
    'history written',
    ['history/databases/history-store'],
    [
      [
        'other-database-taken',
        databases('writes'),
        'if ((position ?? -1) < (place.known ?? -1))',
        'if (place.known === Number.NaN)',
        'a database that lacks earlier runs takes the next ones, and the lost ones are never read again',
      ],
      [
        'repeat-counted',
        databases('writes'),
        'stored.push(...left.filter(({ id }) => taken.has(id)))',
        'stored.push(...left)',
        'a record that is read twice counts twice',
      ],
      [
        'moved-file-written',
        databases('sqlite'),
        'if (fileOf(this.#path) !== this.#file)',
        'if (this.#file === undefined)',
        'runs are written to a file that was moved away',
      ],
      [
        'locked-file-unread',
        databases('migrations'),
        'if (isCurrent(await factsOf(database), origin)) return\n  await database',
        'await database',
        'a file that another program locks cannot be read',
      ],
      [
        'failed-tags-unwritten',
        databases('failed-runs'),
        'await sql.all(`${filledTags(sql.dialect)} AND ${condition} ON CONFLICT (tag, id) DO NOTHING`, ids)',
        '',
        'failed runs of a tag are not found',
      ],
      [
        'failed-kept',
        databases('writes'),
        "for (const table of ['duelog_runs', 'duelog_failed_runs'])",
        "for (const table of ['duelog_runs'])",
        'failed runs are counted after their retention',
      ],
    ],
  ),
  ...area(
    'history searched',
    ['history/databases/search'],
    [
      [
        'failed-unwritten',
        databases('writes'),
        'written.stored.filter(mayHaveFailed).map(({ id }) => id),',
        '[],',
        'failed runs are not found by their errors',
      ],
      [
        'nearest-way',
        databases('search'),
        'furthest === undefined || bottom < furthest.bottom',
        'furthest === undefined || bottom > furthest.bottom',
        'a search walks the common runs in place of the rare ones',
      ],
      [
        'hour-forgotten',
        databases('search'),
        'const lowest = idAt(Number(found.hour))',
        'const lowest = idAt(Number(found.hour) + hourMs)',
        'the oldest runs of a handler and pool are not found',
      ],
      [
        'failed-as-succeeded',
        databases('counts'),
        "counts.plus(Number(bucket), 'SUCCEEDED', -Number(runs))",
        "counts.plus(Number(bucket), 'SUCCEEDED', 0)",
        'failed runs count as succeeded too',
      ],
      [
        'rest-unasked',
        databases('conditions'),
        'const rest = conditions.filter(({ field }) => !way.fields.includes(field))',
        'const rest = conditions.filter(({ field }) => way.fields.length === 0)',
        'fields that the index does not have are ignored',
      ],
      [
        'cursor-lost',
        databases('search'),
        'if (nowMs >= endMs) return top\n',
        'if (nowMs >= endMs) return null\n',
        'a search whose time is over says that it found all',
      ],
    ],
  ),
  ...area(
    'history asked',
    ['api/history'],
    [
      [
        'page-unbounded',
        'src/server/peers/calls.ts',
        'closed(history), integer(1, listLimitMax),',
        'closed(history), integer(1),',
        'a page of any size fills the memory of the process with the history',
      ],
      [
        'secrets-guessed',
        'src/server/api/routes/history-routes.ts',
        "...(role === 'viewer' && searchesTexts && { harmless: true }),",
        '',
        'a viewer guesses a hidden text letter by letter',
      ],
    ],
  ),
  ...area(
    'slices',
    ['concurrency/slices'],
    [
      [
        'slices-in-records',
        'src/ground/concurrency/collections.ts',
        'at - first === countMax || (at > first && bytes + size > bytesMax)',
        'at - first === countMax',
        'a transaction has no limit of bytes',
      ],
    ],
  ),
]
