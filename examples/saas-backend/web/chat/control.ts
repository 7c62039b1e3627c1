import { ask, type Refused } from '../shared/api.ts'

/** Stops what runs. Without it a page that stops reading would only disconnect. */
export async function stop(id: string): Promise<void> {
  await ask(`/api/chat/${encodeURIComponent(id)}/stop`, { method: 'POST' }).catch((error: Refused) => {
    // It had ended by itself.
    if (error.code !== 'run.not_running') throw error
  })
}

/** Says something to the run that goes on: it is heard before its next step. False where nothing could hear it. */
export async function steer(id: string, text: string): Promise<boolean> {
  return ask(`/api/sessions/${encodeURIComponent(id)}/steer`, { body: { message: text } }).then(
    () => true,
    () => false,
  )
}
