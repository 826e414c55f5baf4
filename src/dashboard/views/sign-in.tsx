/** Asks for a token. It stays in this tab and is forgotten with it. */
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
      problem.value =
        response.status === 401 ? 'Duelog does not know this token.' : problemOf(response, await response.text()).message
    } catch {
      problem.value = 'Duelog does not answer; try again shortly.'
    } finally {
      busy.value = false
    }
  }
  return (
    <main class="sign-in">
      <h1>Duelog</h1>
      <p>
        This system wants a token: one of DUELOG_API_TOKENS, or one of your identity provider. It is kept until this tab is
        closed.
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
