/** The runs of each handler: how many, how many failed, how long they took, how late they started. */
import { shareText } from '../../../../streams/text/index.ts'
import { api, count, type HandlerList, hrefWith, ms, useResource } from '../model/index.ts'
import { Answer, Choice, Empty, Heading, head, inOrder, numeric, Order, type Orders, Table, Text } from '../parts/index.ts'

type Handler = HandlerList['handlers'][number]

const hourMs = 3_600_000
const ranges = [
  { value: 'hour', title: '1 h', ms: hourMs },
  { value: 'day', title: '24 h', ms: 24 * hourMs },
  { value: 'week', title: '7 days', ms: 7 * 24 * hourMs },
] as const
const refreshMs = 30_000

const orders: Orders<Handler> = [
  ['', 'most runs first'],
  ['failed', 'most failures first', ({ failed, runs }) => failed / Math.max(1, runs)],
  ['slow', 'slowest first', ({ duration: of }) => of?.p95Ms ?? -1],
  ['late', 'latest starts first', ({ lateness }) => lateness?.p95Ms ?? -1],
]

export function HandlersView({ query }: { query: URLSearchParams }) {
  const range = ranges.find(({ value }) => value === query.get('range')) ?? ranges[1]
  const load = (signal: AbortSignal) => api.listHandlers({ from: new Date(Date.now() - range.ms).toISOString(), signal })
  const list = useResource(range.value, load, refreshMs)
  const links = ranges.map((each) => [each.title, hrefWith('/handlers', query, { range: each.value }), each === range] as const)
  return (
    <>
      <Heading title="Handlers">
        <Choice label="Range" links={links} />
      </Heading>
      <Answer of={list} what="handlers">
        {({ handlers, from }) =>
          handlers.length === 0 ? (
            <Empty>No run of a handler has ended in this time.</Empty>
          ) : (
            <>
              <Order href="/handlers" query={query} orders={orders} />
              <Table
                of="handlers"
                columns={columnsFrom(from)}
                rows={inOrder(handlers, query, orders)}
                keyOf={({ handler }) => handler}
              />
            </>
          )
        }
      </Answer>
    </>
  )
}

function columnsFrom(from: string) {
  const href = (handler: string): string => `/history?${new URLSearchParams({ handler, from })}`
  return [
    head<Handler>('Handler', ({ handler }) => <a href={href(handler)}>{<Text of={handler} />}</a>, { class: 'code' }),
    numeric<Handler>('Runs', ({ runs }) => count(runs)),
    numeric<Handler>('Failed', ({ handler, failed, runs }) => (
      <>
        {failed === 0 ? '—' : <a href={`${href(handler)}&outcome=DEAD`}>{count(failed)}</a>}
        {failed > 0 && <span class="aside">{shareText(failed / runs)}</span>}
      </>
    )),
    numeric<Handler>('Duration p50', (handler) => ms(handler.duration?.p50Ms)),
    numeric<Handler>('Duration p95', (handler) => ms(handler.duration?.p95Ms)),
    numeric<Handler>('Start lateness p50', ({ lateness }) => ms(lateness?.p50Ms)),
    numeric<Handler>('Start lateness p95', ({ lateness }) => ms(lateness?.p95Ms)),
  ]
}
