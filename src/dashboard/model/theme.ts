/** Color theme: light, dark, or the one of the operating system. */
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const storageKey = 'duelog.theme'
const known = (text: string | null): Theme => (text === 'light' || text === 'dark' ? text : 'system')

export const theme = signal<Theme>(known(localStorage.getItem(storageKey)))
const system = matchMedia('(prefers-color-scheme: dark)')
/** Changes whenever the colors do; charts are then redrawn. */
export const dark = signal(false)

export function applyTheme(): void {
  const { value } = theme
  localStorage.setItem(storageKey, value)
  if (value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = value
  dark.value = value === 'dark' || (value === 'system' && system.matches)
}
system.addEventListener('change', applyTheme)

export function chooseTheme(value: Theme): void {
  theme.value = value
  applyTheme()
}
