/** Names behind a title that opens, by pointer, finger and keyboard. */
import { Text } from './text.tsx'

export function Names({ title, names }: { title: string; names: readonly string[] }) {
  return (
    <details class="names">
      <summary>
        <Text of={title} />
      </summary>
      <ul class="code">
        {names.map((name) => (
          <li key={name}>
            <Text of={name} />
          </li>
        ))}
      </ul>
    </details>
  )
}
