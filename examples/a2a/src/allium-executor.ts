import { Role, type Task, TaskState } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import { type Agent, type AgentRun, isAlliumError, type Session } from 'allium'
import { answer, message, statusOf, textOf } from './parts.ts'

/**
 * Runs an agent for A2A callers. An A2A context is a session, and a task is a turn. The text of the turn streams as an artifact.
 * A pending call sets the task to `input-required`, and the next message of the task is the decision.
 */
export class AlliumExecutor implements AgentExecutor {
  readonly #agent: Agent
  readonly #sessions = new Map<string, Session>()
  readonly #runs = new Map<string, AgentRun<unknown>>()

  constructor(agent: Agent) {
    this.#agent = agent
  }

  readonly execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, context } = request
    const task = { id: taskId, contextId, artifacts: [], history: [userMessage], metadata: undefined }
    bus.publish(AgentEvent.task(request.task ?? { ...task, status: statusOf(TaskState.TASK_STATE_SUBMITTED) }))
    const end = (state: TaskState, text?: string) => {
      const said = text === undefined ? undefined : message(text, { contextId, taskId, role: Role.ROLE_AGENT })
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state, said), metadata: undefined }))
    }
    end(TaskState.TASK_STATE_WORKING)
    try {
      const session = this.#sessionOf(contextId, context.user?.userName ?? '')
      const run = begin(session, textOf(userMessage.parts), request.task)
      this.#runs.set(taskId, run)
      for await (const event of run)
        if (event.type === 'text-delta' && !('path' in event)) {
          const artifact = answer(event.delta, taskId)
          const part = { taskId, contextId, artifact, append: true, lastChunk: false, metadata: undefined }
          bus.publish(AgentEvent.artifactUpdate(part))
        }
      const { status, pending, reason } = await run
      if (status === 'suspended') end(TaskState.TASK_STATE_INPUT_REQUIRED, asks(pending))
      else if (status === 'blocked') end(TaskState.TASK_STATE_REJECTED, reason)
      else end(TaskState.TASK_STATE_COMPLETED)
    } catch (error) {
      if ((error as Error).name === 'AbortError') end(TaskState.TASK_STATE_CANCELED)
      // Other errors may contain internal details.
      else end(TaskState.TASK_STATE_FAILED, isAlliumError(error) ? error.code : 'The agent has failed.')
    } finally {
      this.#runs.delete(taskId)
      bus.finished()
    }
  }

  /** The run ends as aborted, and its event bus reports that. */
  readonly cancelTask = async (taskId: string): Promise<void> => {
    this.#runs.get(taskId)?.abort('canceled by the caller')
  }

  /** Sessions belong to the authenticated user, so no user finds the session of another one. */
  #sessionOf(contextId: string, user: string): Session {
    const name = JSON.stringify([user, contextId])
    const session = this.#sessions.get(name) ?? this.#agent.session({ id: contextId, principal: { userId: user } })
    this.#sessions.set(name, session)
    return session
  }
}

/** Decides the pending calls of a task by its next message: "yes" approves, and any other text denies with that text as the reason. */
function begin(session: Session, text: string, task: Task | undefined): AgentRun<unknown> {
  if (task === undefined || session.pending.length === 0) return session.run(text)
  const decision = /^(yes|ok|approve)/i.test(text.trim()) ? { approve: true as const } : { deny: text }
  return session.resume(Object.fromEntries(session.pending.map(({ callId }) => [callId, decision])))
}

function asks(pending: readonly { name: string; args: unknown }[]): string {
  return `May I? ${pending.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join(', ')}`
}
