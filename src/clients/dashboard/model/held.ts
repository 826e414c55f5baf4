/** A list whose rows stay where they are while the pointer or the keyboard is in it: a click or a key must not hit another row; and those that are selected. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { setTo } from './actions.ts'

/** Meanwhile rows change in place, those that are gone stay as they were, and new ones wait. */
function useHeld<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const isHovered = useSignal(false)
  const isFocused = useSignal(false)
  const before = useRef(items)
  const holds = useRef(0)
  const now = new Map(items.map((item) => [keyOf(item), item]))
  if ((isHovered.value || isFocused.value) && before.current.length > 0) {
    before.current = before.current.map((item) => now.get(keyOf(item)) ?? item)
  } else before.current = items
  return {
    shown: before.current,
    /** Whether the item is no longer in the list, and only stays until the rows are free to move. */
    isGone: (item: Item) => !now.has(keyOf(item)),
    /** For the element that contains the rows. */
    hover: {
      onPointerEnter: () => {
        holds.current++
        isHovered.value = true
      },
      onPointerLeave: () => setTo(isHovered, false),
      // A click leaves the focus behind, and must not hold the list when the pointer is elsewhere.
      onFocusIn: ({ target }: FocusEvent) => {
        holds.current++
        isFocused.value = target instanceof Element && target.matches(':focus-visible')
      },
      onFocusOut: ({ currentTarget, relatedTarget }: FocusEvent) => {
        isFocused.value &&=
          currentTarget instanceof Element && relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
      },
    },
    /** Shows the present rows when they are known after an action of this list. Who enters the list meanwhile holds it again. */
    releaseAfter: async (refreshed: Promise<void>): Promise<void> => {
      const held = holds.current
      await refreshed
      if (held !== holds.current) return
      isHovered.value = false
      isFocused.value = false
    },
  }
}

/** Which items are selected. One that has left the list is no longer. `shown`: the rows as they stand. */
function useChoice<Item>(items: readonly Item[], shown: readonly Item[], keyOf: (item: Item) => string) {
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const last = useRef<string | undefined>(undefined)
  /** `toHere`: all from the one that was chosen before, as with the shift key. */
  const choose = (key: string, wanted: boolean, toHere = false): void => {
    const keys = shown.map(keyOf)
    const [from, to] = [keys.indexOf(toHere ? (last.current ?? key) : key), keys.indexOf(key)]
    const next = new Set(chosen.value)
    for (const each of from < 0 ? [key] : keys.slice(Math.min(from, to), Math.max(from, to) + 1)) {
      if (wanted) next.add(each)
      else next.delete(each)
    }
    chosen.value = next
    last.current = key
  }
  const chooseAll = (all: boolean): void => setTo(chosen, new Set(all ? items.map(keyOf) : []))
  return { chosen: chosen.value, selected: items.filter((item) => chosen.value.has(keyOf(item))), choose, chooseAll }
}

/** `refresh`: shows what an action of the list has changed. */
export function useRows<Item>(items: readonly Item[], keyOf: (item: Item) => string, refresh: () => Promise<void>) {
  const held = useHeld(items, keyOf)
  return { ...held, ...useChoice(items, held.shown, keyOf), items, keyOf, changed: () => held.releaseAfter(refresh()) }
}

export type Rows<Item> = ReturnType<typeof useRows<Item>>
