import type { Artifact, Message, Part, TaskStatus } from '@a2a-js/sdk'
import { Role, type TaskState } from '@a2a-js/sdk'

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' }
}

export function textOf(parts: readonly Part[]): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('')
}

/** A message of a conversation, from a person or the agent. */
export function message(text: string, of: { contextId?: string; taskId?: string; role?: Role } = {}): Message {
  const { contextId = '', taskId = '', role = Role.ROLE_USER } = of
  const rest = { metadata: undefined, extensions: [], referenceTaskIds: [] }
  return { messageId: crypto.randomUUID(), contextId, taskId, role, parts: [textPart(text)], ...rest }
}

export function answer(delta: string, taskId: string): Artifact {
  const rest = { name: 'answer', description: '', metadata: undefined, extensions: [] }
  return { artifactId: `answer-${taskId}`, parts: [textPart(delta)], ...rest }
}

export function statusOf(state: TaskState, said?: Message): TaskStatus {
  return { state, message: said, timestamp: new Date().toISOString() }
}
