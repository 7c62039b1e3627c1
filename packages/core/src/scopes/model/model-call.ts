import type { Message } from '../../messages/message.ts'
import { modelId, type ResponseFormat } from '../../model/model.ts'
import type { Turn } from '../turn/turn.ts'
import { TurnCall } from '../turn/turn-call.ts'
import type { CallFields } from './call-fields.ts'
import type { Counted } from './physical-call.ts'

/** One model call with one answer. It may have several attempts. */
export class ModelCall extends TurnCall {
  readonly callIndex: number
  /** The id of the model that was called last. */
  model: string
  /** The provider calls so far, including those of failed and abandoned attempts. */
  readonly physical: Counted[] = []

  constructor(turn: Turn, ring: TurnCall['ring']) {
    super(ring, turn.options.onion.model, turn)
    this.callIndex = turn.callIndex++
    this.model = modelId(turn.options.model)
  }

  /** Returns the fields that the outermost layer starts with. */
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

  /** Returns the messages to send if no layer has read them: the instructions, then the working view. */
  messages(): Message[] {
    const { turn } = this
    const { system } = turn
    return system === undefined ? turn.view.working.slice() : [system, ...turn.view.working]
  }
}

const text: ResponseFormat = { type: 'text' }
