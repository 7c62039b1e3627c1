import { openChat } from './chat.ts'
import { byId } from './dom.ts'

const signIn = byId('sign-in', HTMLFormElement)
const signInError = byId('sign-in-error', HTMLElement)

signIn.addEventListener('submit', async (event) => {
  event.preventDefault()
  const action = (event.submitter as HTMLButtonElement | null)?.value ?? 'sign-in'
  const { email, password } = Object.fromEntries(new FormData(signIn))
  const answer = await post(`/${action}`, { email, password })
  signInError.textContent = answer.error ?? ''
  if (answer.email !== undefined) show(answer.email)
})

byId('sign-out', HTMLButtonElement).addEventListener('click', async () => {
  await post('/sign-out', {})
  location.reload()
})

const me = (await (await fetch('/me')).json()) as { email: string | null }
show(me.email)

function show(email: string | null): void {
  signIn.hidden = email !== null
  byId('account', HTMLElement).hidden = email === null
  byId('chat', HTMLElement).hidden = email === null
  byId('email', HTMLElement).textContent = email
  if (email !== null) void openChat(email)
}

async function post(path: string, body: object): Promise<{ email?: string; error?: string }> {
  try {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.status === 204 ? {} : await response.json()
  } catch {
    return { error: 'The server cannot be reached. Try again.' }
  }
}
