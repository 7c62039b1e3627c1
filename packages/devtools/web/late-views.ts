/** Views that few visits open, in a script of their own. */
export { AgentPanel } from './parts/agent-panel.tsx'
export { Palette } from './parts/palette.tsx'
export { ReadOnlyNotice } from './parts/read-only-notice.tsx'
export { RecallPanel } from './recall/recall-panel.tsx'
