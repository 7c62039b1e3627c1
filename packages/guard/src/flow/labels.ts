import type { FlowLabels } from '@allium/core'

/** The first source of a label. */
export interface FlowSource {
  /** A tool result, a server's tool listing, an attachment, a message with labels that a layer added, or messages that were passed in or stored without labels. */
  kind: 'tool' | 'listing' | 'attachment' | 'message' | 'input' | 'history'
  tool?: string
  callId?: string
}

/** The labels of the text that a model sees, with their sources. */
export interface Labels {
  untrusted?: FlowSource
  private?: FlowSource
}

/** Merges labels. If both have one, the first source stays. */
export function mergeLabels(first: Labels, added: Labels): Labels {
  return { ...added, ...first }
}

/** Whether the second has a label that the first lacks. */
export function hasNewLabels(first: Labels, added: Labels): boolean {
  return (
    (added.untrusted !== undefined && first.untrusted === undefined) ||
    (added.private !== undefined && first.private === undefined)
  )
}

/** Converts a declaration to labels with a source. */
export function toLabels(flow: FlowLabels, source: FlowSource): Labels {
  return { ...(flow.untrusted === true && { untrusted: source }), ...(flow.private === true && { private: source }) }
}

/** Describes the sources for the approver. */
export function describeLabels({ untrusted, private: privateSource }: Labels): string {
  const parts = [
    ...(untrusted === undefined ? [] : [`untrusted text from ${describeSource(untrusted)}`]),
    ...(privateSource === undefined ? [] : [`private text from ${describeSource(privateSource)}`]),
  ]
  return parts.join(', and ')
}

function describeSource({ kind, tool }: FlowSource): string {
  switch (kind) {
    case 'tool':
      return `the tool "${tool}"`
    case 'listing':
      return `what the server of "${tool}" says of its tools now`
    case 'attachment':
      return 'an attached file'
    case 'message':
      return 'a message that a layer added'
    case 'input':
      return 'messages that were given with the input'
    case 'history':
      return 'messages that were stored without labels'
  }
}
