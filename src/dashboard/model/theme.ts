/** Light, dark, or as the system has it. */
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const kept = 'duelog.theme'
const known = (text: string | null): Theme => (text === 'light' || text === 'dark' ? text : 'system')

export const theme = signal<Theme>(known(localStorage.getItem(kept)))
const system = matchMedia('(prefers-color-scheme: dark)')
/** Changes whenever colours do; charts are drawn anew then. */
export const dark = signal(false)

export function applyTheme(): void {
  const { value } = theme
  localStorage.setItem(kept, value)
  if (value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = value
  dark.value = value === 'dark' || (value === 'system' && system.matches)
}
system.addEventListener('change', applyTheme)

export function chooseTheme(value: Theme): void {
  theme.value = value
  applyTheme()
}
