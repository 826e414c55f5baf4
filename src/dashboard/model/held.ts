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
  /** Shows the present rows, after the outcome of an action of this list. */
  release: () => void
}

/** Meanwhile rows change in place, those that are gone stay as they were, and new ones wait. */
export function useHeld<Item>(items: readonly Item[], keyOf: (item: Item) => string): Held<Item> {
  const isHovered = useSignal(false)
  const isFocused = useSignal(false)
  const before = useRef(items)
  const now = new Map(items.map((item) => [keyOf(item), item]))
  if ((isHovered.value || isFocused.value) && before.current.length > 0) {
    before.current = before.current.map((item) => now.get(keyOf(item)) ?? item)
  } else before.current = items
  return {
    items: before.current,
    isGone: (item) => !now.has(keyOf(item)),
    hover: {
      onPointerEnter: () => {
        isHovered.value = true
      },
      onPointerLeave: () => {
        isHovered.value = false
      },
      // A click leaves the focus behind, and must not hold the list when the pointer is elsewhere.
      onFocusIn: ({ target }) => {
        isFocused.value = target instanceof Element && target.matches(':focus-visible')
      },
      onFocusOut: ({ currentTarget, relatedTarget }) => {
        isFocused.value &&=
          currentTarget instanceof Element && relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
      },
    },
    release: () => {
      isHovered.value = false
      isFocused.value = false
    },
  }
}
