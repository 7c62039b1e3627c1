/** The views that are not in the script that the page loads first. */
export { EvalsPanel } from './evals/evals-panel.tsx'
export { SaveCaseDialog } from './evals/save-case-dialog.tsx'
export { IdentityDialog } from './parts/identity-dialog.tsx'
export { UsagePanel } from './parts/usage-panel.tsx'
export { ReplayPanel } from './replay/replay-panel.tsx'
