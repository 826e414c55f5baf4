/** Sign-in form for a token, which is kept until the tab is closed, and shared with other tabs of this browser. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { problemOf, type Session, signIn, wasRefused } from '../model/index.ts'

export function SignInView() {
  const problem = useSignal(
    wasRefused.value ? 'Your session has ended: the token is not valid any more. Sign in again to continue here.' : '',
  )
  const busy = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim()
    busy.value = true
    try {
      const response = await fetch('/v1/session', { headers: { authorization: `Bearer ${given}` }, cache: 'no-store' })
      if (response.ok) {
        signIn(given, (await response.json()) as Session)
        return
      }
      problem.value = response.status === 401 ? 'This token is not valid.' : problemOf(response, await response.text()).message
    } catch {
      problem.value = 'Duelog is not responding. Try again shortly.'
    } finally {
      busy.value = false
    }
  }
  return (
    <main class="sign-in">
      <h1>Duelog</h1>
      <p>
        Sign in with a token: one of DUELOG_API_TOKENS, or one from your identity provider. It is kept until you close the last
        tab of Duelog.
      </p>
      <form onSubmit={submit}>
        <label>
          Token
          <input
            ref={field}
            name="token"
            type="password"
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="refused"
          />
        </label>
        <p id="refused" class="bad" role="alert">
          {problem.value}
        </p>
        <button type="submit" class="main" disabled={busy.value}>
          Sign in
        </button>
      </form>
    </main>
  )
}
