import { Dispatcher } from 'undici';

const answer = Buffer.from('{}');

/** Takes every request and answers it by itself: nothing leaves this process. */
export class DeadEnd extends Dispatcher {
  override dispatch(_request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller: Dispatcher.DispatchController = {
      aborted: false,
      paused: false,
      reason: null,
      abort() {},
      pause() {},
      resume() {},
    };
    handler.onRequestStart?.(controller, null);
    handler.onResponseStart?.(controller, 200, {}, 'OK');
    handler.onResponseData?.(controller, answer);
    handler.onResponseEnd?.(controller, {});
    return true;
  }
}
