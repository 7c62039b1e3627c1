import { CopilotKitCore } from '@copilotkit/core'
import { agUi } from './ag-ui.mjs'

export default agUi((agent, parameters) => {
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { support: agent } })
  return core.runAgent({ agent, ...parameters })
})
