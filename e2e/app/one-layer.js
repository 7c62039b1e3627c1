import { Agent } from 'allium'
import * as guard from 'allium/guard'

export const limited = (model) => new Agent({ model }).use(guard.maxToolCalls({ limit: 3 }))
