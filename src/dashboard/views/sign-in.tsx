/** Sign-in form for a token, which is kept until the tab is closed. */
import { useSignal } from '@preact/signals'
import { problemOf, type Session, session, token } from '../model/index.ts'

export function SignInView() {
  const problem = useSignal('')
  const busy = useSignal(false)
  const signIn = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim()
    busy.value = true
    try {
      const response = await fetch('/v1/session', { headers: { authorization: `Bearer ${given}` }, cache: 'no-store' })
      if (response.ok) {
        session.value = (await response.json()) as Session
        token.value = given
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
        Sign in with a token: one of DUELOG_API_TOKENS, or one from your identity provider. It is kept until you close this tab.
      </p>
      <form onSubmit={signIn}>
        <label>
          Token
          <input name="token" type="password" required autocomplete="off" spellcheck={false} aria-describedby="refused" />
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
