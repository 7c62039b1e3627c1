import type { CodeShape } from './code-shape.ts'
import { type Event, LostCalls } from './lost-calls.ts'
import { type Patience, ReplayCheck } from './replay-check.ts'
import type { RecordedStep } from './run-store.ts'
import type { StepValue } from './step-record.ts'

/** The check of a replay of a durable run. It also finds calls that may have run, and that the code can no longer run. */
export class RunCheck extends ReplayCheck {
  readonly #lostCalls: LostCalls

  /**
   * @param options.code the agent's code at the start of the run, and that of this process
   * @param options.patience limits how long a new step waits for recorded ones @default 10 seconds
   */
  constructor(
    steps: readonly RecordedStep[],
    { code, patience }: { code?: readonly [began: CodeShape, now: CodeShape] | undefined; patience?: Patience } = {},
  ) {
    super(patience)
    this.#lostCalls = new LostCalls(steps, code)
    for (const { id, body } of steps) this.add(id, (body as [...StepValue, string[]?])[2] ?? [])
  }

  override use(id: string): void {
    super.use(id)
    this.#lostCalls.request(id)
  }

  /** Called with each event of the run. */
  see(event: Event): void {
    this.#lostCalls.see(event)
  }

  /** Called before a step that is not recorded. @throws AlliumError `journal.diverged` */
  checkLost(): Promise<void> {
    return this.#lostCalls.check()
  }

  override checkEnd(turnId: string): void {
    super.checkEnd(turnId)
    this.#lostCalls.throwIfLost()
  }
}
