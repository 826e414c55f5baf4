/** Who watches whom: the members of a group in the order of their names, after the last of which comes the first. */
/** `next` and `before`: the names after and before one, fewer in a smaller group, and none if it is not a member. */
export function ringOf(members: readonly { instance: string }[]) {
  const names = [...new Set(members.map(({ instance }) => instance))].sort()
  const from = (instance: string, step: 1 | -1, count: number): string[] => {
    const place = names.indexOf(instance)
    if (place < 0) return []
    const size = names.length
    return Array.from(
      { length: Math.min(count, size - 1) },
      (_, index) => names[(place + step * (index + 1) + 2 * size) % size] ?? '',
    )
  }
  return {
    next: (instance: string, count: number) => from(instance, 1, count),
    before: (instance: string, count: number) => from(instance, -1, count),
  }
}
