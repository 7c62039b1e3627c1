import type { Clock } from '@allium/core'
import { AlliumError, systemClock, toJson } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { callIngress, type Ingress, type IngressRequest, type IngressResponse } from './ingress.ts'
import type { ActiveRun, RunOutput } from './object.ts'
import type { RestateAgent } from './restate-agent.ts'
import { objectKeyOf, restateKeyOf, type Task } from './task.ts'

export interface TaskCallsOptions {
  readonly ingress?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
}

/** Calls the object of a task's session through the ingress. */
export class TaskCalls {
  readonly #agent: RestateAgent
  readonly #name: string
  readonly #clock: Clock
  readonly #ingress: Ingress

  constructor(agent: RestateAgent, name: string, options: TaskCallsOptions) {
    const { ingress = 'http://localhost:8080', headers, fetch = globalThis.fetch, clock = systemClock } = options
    this.#agent = agent
    this.#name = name
    this.#clock = clock
    this.#ingress = { url: ingress.replace(/\/+$/, ''), headers, fetch }
  }

  /** Sends a task. @param delay milliseconds until it starts */
  async start(task: Task, delay: number): Promise<void> {
    const body = toJson(task)
    const query = delay > 0 ? `?delay=${delay}ms` : undefined
    const accepted = await this.call(task, { body, query, idempotencyKey: restateKeyOf(task) }, 'run', 'send')
    const status = (accepted.value as { status?: string } | undefined)?.status
    if (status === undefined)
      throw new AlliumError(
        'http.status',
        `Restate at ${this.#ingress.url} has no object "${this.#name}". Register its endpoint there.`,
      )
    if (status === 'PreviouslyAccepted') await this.#checkKeyReuse(task, body)
  }

  call(task: Task, request: Omit<IngressRequest, 'path'>, ...handler: string[]): Promise<IngressResponse> {
    return callIngress(this.#ingress, { ...request, path: [this.#name, objectKeyOf(this.#agent, task), ...handler] })
  }

  /** Waits for the output of a run, or reads it. */
  async invocation(task: Task, endpoint: 'attach' | 'output'): Promise<IngressResponse> {
    const key = objectKeyOf(this.#agent, task)
    const path = ['restate', 'invocation', this.#name, key, 'run', restateKeyOf(task), endpoint]
    for (const ms of notFoundDelays) {
      const response = await callIngress(this.#ingress, { path })
      if (response.status !== 404) return response
      await new Promise<void>((resolve) => this.#clock.after(ms, resolve))
    }
    return callIngress(this.#ingress, { path })
  }

  async #checkKeyReuse(task: Task, text: string): Promise<void> {
    const { value } = await this.invocation(task, 'output')
    const running = (await this.call(task, { body: null }, 'running')).value as ActiveRun | null
    const originalDigest =
      (value as RunOutput | undefined)?.task ?? (running?.key === task.idempotencyKey ? running.task : undefined)
    if (originalDigest !== undefined && originalDigest !== (await digestOf(text)))
      throw new AlliumError(
        'run.key_reused',
        `The idempotency key "${task.idempotencyKey}" belongs to another task of this session. Use another key.`,
      )
  }
}

/**
 * Milliseconds between the attempts to find an invocation. A Restate server that has just started can answer 404 for an invocation
 * that it has stored, see https://github.com/restatedev/restate/issues/4513.
 */
const notFoundDelays = [100, 200, 400, 800]
