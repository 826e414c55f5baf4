/** Where the demo writes, and how it writes numbers. */

export interface Output {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export function numberText(value: number): string {
  return value.toLocaleString('en-US')
}
