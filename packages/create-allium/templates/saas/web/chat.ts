import { ClientError, type ClientRun, type ClientSession, createClient } from '@allium/server/client'
import type { Assistant } from '../src/agent.ts'
import { approvalCard } from './approval-card.ts'
import { describeCall } from './describe-call.ts'
import { byId, element } from './dom.ts'
import { callOf, type PastCall, type Question, textOf } from './history.ts'
import { sentenceOf } from './sentence-of.ts'

const client = createClient<Assistant>({ url: `${location.origin}/api` })
const messages = byId('messages', HTMLElement)
messages.tabIndex = 0 // the keyboard can scroll it
const composer = byId('composer', HTMLFormElement)
const input = byId('input', HTMLTextAreaElement)
const stop = byId('stop', HTMLButtonElement)
/** The elements of tool calls, by call id. */
const calls = new Map<string, HTMLElement>()
/** Close the cards that wait for a decision. */
const openCards = new Set<(note: string) => void>()

/** Opens the user's last chat. An active run continues to stream, also after a reload. */
export async function openChat(email: string): Promise<void> {
  const key = `chat:${email}`
  const stored = localStorage.getItem(key)
  const id = stored ?? crypto.randomUUID()
  const session = client.session(id)

  byId('new-chat', HTMLButtonElement).onclick = () => {
    localStorage.removeItem(key)
    location.reload() // an answer that still streams belongs to the old chat
  }
  stop.onclick = () => void session.stop().catch(showError)
  composer.onsubmit = (event) => {
    event.preventDefault()
    localStorage.setItem(key, id)
    void send(session, input.value.trim())
  }
  input.onkeydown = (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    composer.requestSubmit()
  }
  // The server has no history of a new chat.
  if (stored !== null) await restore(session)
  input.focus()
}

async function send(session: ClientSession, text: string): Promise<void> {
  if (text === '') return
  input.value = ''
  add('user', text)
  // A message cancels the calls that wait for a decision.
  const succeeded = await read(session, session.run(text), () => closeCards('Cancelled by your next message'))
  // Keep the text of a message that failed.
  if (!succeeded && input.value === '') input.value = text
}

/** Shows a run as it streams, then asks about its pending calls. Returns whether it succeeded. `started` is called with its first event. */
async function read(session: ClientSession, run: ClientRun, started?: () => void): Promise<boolean> {
  stop.hidden = false
  try {
    let answer: HTMLElement | undefined
    let isFirst = true
    for await (const event of run) {
      if (isFirst) started?.()
      isFirst = false
      if (event.type === 'text-delta') {
        answer ??= add('assistant', '')
        answer.textContent += event.delta
      } else if (event.type === 'tool:start') {
        answer = undefined
        // A call that was approved has a card.
        if (!calls.has(event.callId)) calls.set(event.callId, add('tool', describeCall(event.name, event.args)))
      }
      messages.scrollTop = messages.scrollHeight
    }
    for (const call of (await run).pending) ask(session, call)
    return true
  } catch (error) {
    showError(error)
    return false
  } finally {
    stop.hidden = true
  }
}

function ask(session: ClientSession, question: Question): void {
  const { card, close } = approvalCard(question, (decisions, accepted) => {
    input.focus() // the buttons disappear
    return read(session, session.resume(decisions), () => {
      openCards.delete(close)
      accepted()
    })
  })
  openCards.add(close)
  calls.get(question.callId)?.remove()
  calls.set(question.callId, card)
  messages.append(card)
  messages.scrollTop = messages.scrollHeight
}

function closeCards(note: string): void {
  for (const close of openCards) close(note)
  openCards.clear()
}

/** Shows the history of the session, its pending calls and its active run. */
async function restore(session: ClientSession): Promise<void> {
  try {
    const { messages: history, running } = await session.history()
    for (const { role, parts } of history)
      for (const part of parts) {
        const text = textOf(part)
        if (text !== undefined) add(role, text)
        const call = callOf(part)
        if (call?.isPending && !running) ask(session, call)
        else if (call !== undefined) addCall(call)
      }
    if (running) await read(session, session.follow())
  } catch (error) {
    // The first message may not have reached the server.
    if (!(error instanceof ClientError && error.status === 404)) showError(error)
  }
}

function add(className: string, text: string): HTMLElement {
  const made = element('p', className, text)
  messages.append(made)
  messages.scrollTop = messages.scrollHeight
  return made
}

function addCall({ callId, name, args, hasFailed }: PastCall): void {
  const card = add('tool', describeCall(name, args))
  if (hasFailed) card.append(element('span', 'note', ' (not done)'))
  calls.set(callId, card)
}

function showError(error: unknown): void {
  console.error(error)
  add('error', sentenceOf(error))
}
