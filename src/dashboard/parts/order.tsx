/** Links that put the loaded page of a list into another order, which is in the address. The server pages in its own order. */

interface OrderProps {
  href: string
  query: URLSearchParams
  /** The name in the address, '' for the order of the server, and its text. */
  orders: readonly (readonly [order: string, title: string])[]
  /** What is put in order. */
  of?: string
}

export function Order({ href, query, orders, of = 'This page' }: OrderProps) {
  const hrefOf = (order: string): string => {
    const other = new URLSearchParams(query)
    if (order === '') other.delete('order')
    else other.set('order', order)
    return other.size === 0 ? href : `${href}?${other}`
  }
  return (
    <nav class="choice" aria-label={`Order of ${of.toLowerCase()}`}>
      <span class="aside">{of}:</span>
      {orders.map(([order, title]) => (
        <a key={order} href={hrefOf(order)} aria-current={(query.get('order') ?? '') === order ? 'true' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}
