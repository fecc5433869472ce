// The WebSocket to the car: opened again whenever it closes, with a sign of life ten times a second.

const FIRST_RETRY_MS = 400;
const LONGEST_RETRY_MS = 3000;
const HEARTBEAT_MS = 100;

export class Link {
  /**
   * @param {(isOpen: boolean) => void} onChange called when the connection opens or closes
   * @param {(message: object) => void} onMessage called with everything the car says
   */
  constructor(onChange, onMessage) {
    Object.assign(this, { onChange, onMessage });
    this.retry = FIRST_RETRY_MS;
    setInterval(() => this.send({ heartbeat: true }), HEARTBEAT_MS);
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.socket = new WebSocket(`${scheme}//${location.host}/wsDrive?reports=1`);
    this.socket.onopen = () => {
      this.retry = FIRST_RETRY_MS;
      this.send({ heartbeat: true });
      this.onChange(true);
    };
    this.socket.onmessage = (event) => this.onMessage(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.onChange(false);
      setTimeout(() => this.open(), this.retry);
      this.retry = Math.min(this.retry * 1.6, LONGEST_RETRY_MS);
    };
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
