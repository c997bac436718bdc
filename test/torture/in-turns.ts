/** Node's own: lets all promises go on that can, now. A turn of the event loop would take fifty times as long. */
const settlePromises: unknown = Reflect.get(process, '_tickCallback');

const stepsInTurn = 256;

/** Takes steps while `step` gives true; between two of them every promise goes on as far as it can. */
export function inTurns(step: () => boolean): Promise<void> {
  if (typeof settlePromises !== 'function')
    throw new Error('this version of Node cannot settle promises at once');
  return new Promise((resolve, reject) => {
    // Promises are settled at once only from outside of any: in a turn of the event loop, as here.
    const turn = (): void => {
      try {
        for (let left = stepsInTurn; left > 0; left--) {
          if (!step()) {
            resolve();
            return;
          }
          settlePromises.call(process);
        }
        setImmediate(turn);
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(turn);
  });
}
