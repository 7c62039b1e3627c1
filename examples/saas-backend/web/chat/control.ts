import { ask, type Refused } from '../shared/api.ts'

/** Stops the answer. Without it a page that stops reading would only disconnect. @throws Refused */
export async function stop(id: string): Promise<void> {
  await ask(`/api/chat/${encodeURIComponent(id)}/stop`, { method: 'POST' }).catch((error: Refused) => {
    // The answer had already ended.
    if (error.code !== 'run.not_running') throw error
  })
}

/** Sends a message to the running turn, which reads it before its next step. @throws Refused */
export async function steer(id: string, message: { id: string; text: string }): Promise<void> {
  await ask(`/api/chat/${encodeURIComponent(id)}/steer`, { body: { message: message.text, id: message.id } })
}
