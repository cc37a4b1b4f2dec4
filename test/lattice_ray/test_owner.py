import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

from lattice_ray.owner import is_there, owner_refusal


class Ownership(unittest.TestCase):
    def test_workers_of_another_service_are_left_alone(self) -> None:
        owners = ["ws://one:8000", None]
        self.assertIsNone(owner_refusal(owners, "ws://one:8000"))
        self.assertIsNone(owner_refusal([], "ws://two:8000"))
        self.assertRegex(
            owner_refusal(owners, "ws://two:8000") or "",
            "^The workers of this namespace belong to the service at ws://one:8000: ",
        )


class Presence(unittest.TestCase):
    def setUp(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        test = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                test.asked.append(self.path)
                self.send_response(test.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answer)
        self.service = f"ws://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tearDown(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def test_one_that_answers_is_there(self) -> None:
        self.assertTrue(is_there(self.service, 0))
        self.assertTrue(is_there(f"{self.service}/", 0))
        self.assertEqual(self.asked, ["/healthz", "/healthz"])
        self.status = 403
        self.assertTrue(is_there(self.service, 0))

    def test_a_proxy_without_its_service_is_not(self) -> None:
        self.status = 502
        self.assertFalse(is_there(self.service, 0))

    def test_where_nothing_listens_it_is_gone(self) -> None:
        self.assertFalse(is_there("ws://127.0.0.1:1", 0))
        self.assertFalse(is_there("wss://name.invalid", 0))


if __name__ == "__main__":
    unittest.main()
