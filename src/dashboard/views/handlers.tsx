/** The runs of each handler: how many, how many failed, how long they took, how late they started. */
import { shareText } from '../../../streams/text/index.ts'
import { ask, count, duration, type HandlerList, path, useResource } from '../model/index.ts'
import { Empty, Heading, Loading, Order, Problem, Table, Text } from '../parts/index.ts'

type Handler = HandlerList['handlers'][number]

const hourMs = 3_600_000
const ranges = [
  { value: 'hour', title: '1 h', ms: hourMs },
  { value: 'day', title: '24 h', ms: 24 * hourMs },
  { value: 'week', title: '7 days', ms: 7 * 24 * hourMs },
] as const
const refreshMs = 30_000

const orders = [
  ['', 'most runs first'],
  ['failed', 'most failures first'],
  ['slow', 'slowest first'],
  ['late', 'latest starts first'],
] as const
const sizes: Record<string, (handler: Handler) => number> = {
  failed: ({ failed, runs }) => failed / Math.max(1, runs),
  slow: ({ duration: of }) => of?.p95Ms ?? -1,
  late: ({ lateness }) => lateness?.p95Ms ?? -1,
}

export function HandlersView({ query }: { query: URLSearchParams }) {
  const range = ranges.find(({ value }) => value === query.get('range')) ?? ranges[1]
  const { value, problem } = useResource(
    range.value,
    (signal) =>
      ask<HandlerList>(path(['history', 'handlers'], { from: new Date(Date.now() - range.ms).toISOString() }), { signal }),
    refreshMs,
  )
  const size = sizes[query.get('order') ?? '']
  const list = value.value
  const handlers = list?.handlers ?? []
  const hrefOf = (wanted: string): string => {
    const other = new URLSearchParams(query)
    other.set('range', wanted)
    return `/handlers?${other}`
  }
  return (
    <>
      <Heading title="Handlers">
        <nav class="choice" aria-label="Range">
          {ranges.map(({ value: each, title }) => (
            <a key={each} href={hrefOf(each)} aria-current={each === range.value ? 'true' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </Heading>
      <Problem problem={problem.value} known={list !== undefined} />
      {list === undefined && problem.value === undefined && <Loading what="handlers" />}
      {list !== undefined && handlers.length === 0 && <Empty>No run of a handler has ended in this time.</Empty>}
      {list !== undefined && handlers.length > 0 && (
        <>
          <Order href="/handlers" query={query} orders={orders} />
          <Table
            of="handlers"
            columns={[
              'Handler',
              { title: 'Runs', number: true },
              { title: 'Failed', number: true },
              { title: 'Duration p50', number: true },
              { title: 'Duration p95', number: true },
              { title: 'Start lateness p50', number: true },
              { title: 'Start lateness p95', number: true },
            ]}
          >
            {(size === undefined ? handlers : handlers.toSorted((a, b) => size(b) - size(a))).map((handler) => (
              <Row key={handler.handler} handler={handler} from={list.from} />
            ))}
          </Table>
        </>
      )}
    </>
  )
}

function Row({ handler: { handler, runs, failed, duration: took, lateness }, from }: { handler: Handler; from: string }) {
  const href = `/history?${new URLSearchParams({ handler, from })}`
  const ms = (value: number | undefined) => <td class="number">{value === undefined ? '—' : duration(value)}</td>
  return (
    <tr>
      <th scope="row" class="code">
        <a href={href}>
          <Text of={handler} />
        </a>
      </th>
      <td class="number">{count(runs)}</td>
      <td class="number">
        {failed === 0 ? '—' : <a href={`${href}&outcome=DEAD`}>{count(failed)}</a>}
        {failed > 0 && <span class="aside">{shareText(failed / runs)}</span>}
      </td>
      {ms(took?.p50Ms)}
      {ms(took?.p95Ms)}
      {ms(lateness?.p50Ms)}
      {ms(lateness?.p95Ms)}
    </tr>
  )
}
