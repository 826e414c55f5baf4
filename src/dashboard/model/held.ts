/** A list whose rows stay where they are while the pointer is over it: a click must not hit another row. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

interface Held<Item> {
  items: readonly Item[]
  /** For the element that contains the rows. */
  hover: { onPointerEnter: () => void; onPointerLeave: () => void }
  /** Shows the present rows, after the outcome of an action of this list. */
  release: () => void
}

/** Meanwhile rows change in place, those that are gone stay as they were, and new ones wait. */
export function useHeld<Item>(items: readonly Item[], keyOf: (item: Item) => string): Held<Item> {
  const hovered = useSignal(false)
  const before = useRef(items)
  if (hovered.value && before.current.length > 0) {
    const now = new Map(items.map((item) => [keyOf(item), item]))
    before.current = before.current.map((item) => now.get(keyOf(item)) ?? item)
  } else before.current = items
  return {
    items: before.current,
    hover: {
      onPointerEnter: () => {
        hovered.value = true
      },
      onPointerLeave: () => {
        hovered.value = false
      },
    },
    release: () => {
      hovered.value = false
    },
  }
}
