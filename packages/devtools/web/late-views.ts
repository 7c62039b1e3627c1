/** Views that few visits open, in a script of their own. */
export { Palette } from './parts/palette.tsx'
export { RecallPanel } from './recall/recall-panel.tsx'
