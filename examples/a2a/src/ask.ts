import { TaskState } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { message, textOf } from './parts.ts'

/** What a caller has of a task. */
export interface Told {
  taskId: string
  contextId: string
  text: string
  states: string[]
  /** What the agent asks, or why it refused. */
  said: string
}

/** A client of A2A, as another agent or a product has it. */
export async function callerOf(url: string, key: string) {
  const client = await new ClientFactory().createFromUrl(url)
  const options = { serviceParameters: { authorization: `Bearer ${key}` } }
  return {
    cancel: (id: string) => client.cancelTask({ id, tenant: '', metadata: undefined }, options),
    /** @param of the task that goes on, if one does */
    async ask(text: string, of: { taskId?: string; contextId?: string } = {}, heard: (told: Told) => void = () => {}) {
      const told: Told = { taskId: '', contextId: '', text: '', states: [], said: '' }
      const request = { tenant: '', message: message(text, of), configuration: undefined, metadata: undefined }
      for await (const { payload } of client.sendMessageStream(request, options)) {
        if (payload?.$case === 'task')
          Object.assign(told, { taskId: payload.value.id, contextId: payload.value.contextId })
        if (payload?.$case === 'artifactUpdate') told.text += textOf(payload.value.artifact?.parts ?? [])
        if (payload?.$case === 'statusUpdate') {
          const { state = TaskState.TASK_STATE_UNSPECIFIED, message: said } = payload.value.status ?? {}
          told.states.push(TaskState[state].replace('TASK_STATE_', '').toLowerCase())
          told.said = textOf(said?.parts ?? [])
        }
        heard(told)
      }
      return told
    },
  }
}
