import type { Message } from '../../messages/message.ts'
import { type ModelServer, modelId, type ResponseFormat } from '../../model/model.ts'
import type { Ring } from '../../onion/attempt.ts'
import type { Turn } from '../turn/turn.ts'
import { TurnCall } from '../turn/turn-call.ts'
import type { CallFields } from './call-fields.ts'
import type { Counted } from './physical-call.ts'

/** One call of the model, as one answer; attempts of it may be several. */
export class ModelCall extends TurnCall {
  readonly callIndex: number
  /** The id of the model that was asked last. */
  model: string
  /** Where the last physical call went, where its model tells. */
  server: ModelServer | undefined
  /** The physical calls so far, those of failed and left attempts too. */
  readonly physical: Counted[] = []

  constructor(turn: Turn, ring: Ring) {
    super(ring, turn.options.onion.model, turn)
    this.callIndex = turn.callIndex++
    this.model = modelId(turn.options.model)
  }

  /** The fields as the first layer finds them. */
  start(): CallFields {
    const { model, settings, format, tools } = this.turn.options
    const { defs } = tools
    return {
      messages: undefined,
      model,
      settings,
      toolDefs: format?.tool === undefined ? defs : [...defs, format.tool],
      toolChoice: format?.tool === undefined ? 'auto' : 'required',
      responseFormat: format?.responseFormat ?? text,
    }
  }

  /** What is sent where no layer has looked: the instructions, then the working view. */
  messages(): Message[] {
    const { turn } = this
    const { system } = turn
    return system === undefined ? turn.view.working.slice() : [system, ...turn.view.working]
  }
}

const text: ResponseFormat = { type: 'text' }
