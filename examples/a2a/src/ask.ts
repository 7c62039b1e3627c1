import { TaskState } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { message, textOf } from './parts.ts'

/** A task, as its caller sees it. */
export interface Told {
  taskId: string
  contextId: string
  text: string
  states: string[]
  /** The question of the agent, or the reason of a failure. */
  said: string
}

/** An A2A client, such as another agent. */
export async function callerOf(url: string, key: string) {
  const client = await new ClientFactory().createFromUrl(url)
  const options = { serviceParameters: { authorization: `Bearer ${key}` } }
  return {
    cancel: (id: string) => client.cancelTask({ id, tenant: '', metadata: undefined }, options),
    /** @param of the task to continue, if any */
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
