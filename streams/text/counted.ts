/** Numbers with what they count, in messages. `many`: of other numbers than one; default: `one` with an s. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
