import type { Delivery } from '../ports/channel.ts';

/**
 * Renders a message, or says that it cannot be: a message that breaks its renderer would break it again on
 * every retry, so it is given up and the other channels, whose messages look different, are notified.
 */
export function tryRender<Rendered>(
  render: () => Rendered,
): { readonly rendered: Rendered } | { readonly failed: Delivery } {
  try {
    return { rendered: render() };
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown error';
    return {
      failed: {
        kind: 'dead',
        reason: `lowwater could not render the message (${name}); this is a defect of lowwater`,
      },
    };
  }
}
