/** Whether the page is as narrow as on a phone, as the style sheets see it. */
import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 760px)')
export const isNarrow = signal(query.matches)
query.addEventListener('change', () => {
  isNarrow.value = query.matches
})
