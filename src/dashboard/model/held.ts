/** A list whose rows stay where they are while the pointer or the keyboard is in it: a click or a key must not hit another row. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

export interface Held<Item> {
  items: readonly Item[]
  /** Whether the item is no longer in the list, and only stays until the rows are free to move. */
  isGone: (item: Item) => boolean
  /** For the element that contains the rows. */
  hover: {
    onPointerEnter: () => void
    onPointerLeave: () => void
    onFocusIn: (event: FocusEvent) => void
    onFocusOut: (event: FocusEvent) => void
  }
  /** Shows the present rows when they are known after an action of this list. Who enters the list meanwhile holds it again. */
  releaseAfter: (refreshed: Promise<void>) => Promise<void>
}

/** Meanwhile rows change in place, those that are gone stay as they were, and new ones wait. */
export function useHeld<Item>(items: readonly Item[], keyOf: (item: Item) => string): Held<Item> {
  const isHovered = useSignal(false)
  const isFocused = useSignal(false)
  const before = useRef(items)
  const holds = useRef(0)
  const now = new Map(items.map((item) => [keyOf(item), item]))
  if ((isHovered.value || isFocused.value) && before.current.length > 0) {
    before.current = before.current.map((item) => now.get(keyOf(item)) ?? item)
  } else before.current = items
  return {
    items: before.current,
    isGone: (item) => !now.has(keyOf(item)),
    hover: {
      onPointerEnter: () => {
        holds.current++
        isHovered.value = true
      },
      onPointerLeave: () => {
        isHovered.value = false
      },
      // A click leaves the focus behind, and must not hold the list when the pointer is elsewhere.
      onFocusIn: ({ target }) => {
        holds.current++
        isFocused.value = target instanceof Element && target.matches(':focus-visible')
      },
      onFocusOut: ({ currentTarget, relatedTarget }) => {
        isFocused.value &&=
          currentTarget instanceof Element && relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
      },
    },
    releaseAfter: async (refreshed) => {
      const held = holds.current
      await refreshed
      if (held !== holds.current) return
      isHovered.value = false
      isFocused.value = false
    },
  }
}
