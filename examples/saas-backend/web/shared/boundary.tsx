import { Component, type ReactNode } from 'react'

interface BoundaryProps {
  /** Shown in place of children that cannot be rendered. */
  fallback: ReactNode
  children: ReactNode
}

/** Limits an error to one part of the page. */
export class Boundary extends Component<BoundaryProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.fallback : this.props.children
  }
}
