/** The output stream of the demo, and its number format. */

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export function numberText(value: number): string {
  return value.toLocaleString('en-US')
}
